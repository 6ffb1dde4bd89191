// The C library, for every file of the commands. They use no Foundation: it would be a third of the program that is shipped.
@_exported public import MultipeerPlatform
