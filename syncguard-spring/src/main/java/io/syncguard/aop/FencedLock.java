package io.syncguard.aop;

import io.syncguard.LockHandle;
import java.util.ArrayList;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * A lock of a running call, and the resource that it protects. The lock interceptor, outside the transaction, passes it
 * to the fence interceptor, inside the transaction, as an attribute of the call.
 */
record FencedLock(LockHandle lock, String resource) {

    private static final String ATTRIBUTE = FencedLock.class.getName();

    /**
     * The locks of requests that protect a resource.
     *
     * @param handles one for each request, or none
     */
    static List<FencedLock> of(List<FencedRequest> requests, List<LockHandle> handles) {
        List<FencedLock> locks = new ArrayList<>(0);
        for (int i = 0; i < handles.size(); i++) {
            String resource = requests.get(i).resource();
            if (resource != null) {
                locks.add(new FencedLock(handles.get(i), resource));
            }
        }
        return locks;
    }

    /** @throws IllegalStateException when the call does not come through a Spring proxy */
    static void pass(List<FencedLock> locks, MethodInvocation call) {
        if (!(call instanceof ProxyMethodInvocation proxied)) {
            throw new IllegalStateException("Not called through a Spring proxy: " + call.getMethod());
        }
        proxied.setUserAttribute(ATTRIBUTE, locks);
    }

    /** Returns no lock for a call that runs without one because its condition is false. */
    @SuppressWarnings("unchecked")
    static List<FencedLock> of(MethodInvocation call) {
        @Nullable
        Object locks = call instanceof ProxyMethodInvocation proxied ? proxied.getUserAttribute(ATTRIBUTE) : null;
        return locks == null ? List.of() : (List<FencedLock>) locks;
    }
}
