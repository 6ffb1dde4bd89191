@import MultipeerConnectivity;
#import <MultipeerConnectivity/MultipeerConnectivity.h>

@interface Room : NSObject <MCSessionDelegate>
@property (nonatomic, strong) MCSession *session;
@end
