// A C target has to have a source; what counts is the module map.
typedef int multipeer_connectivity_has_no_code;
