// The C library, and the part of Foundation that needs neither ICU, which has 30 MB of data, nor libcurl: for every file of the
// commands, so that none of them brings more into the program.
@_exported public import MultipeerFoundation
@_exported public import MultipeerPlatform
