package io.syncguard.web;

import io.syncguard.LockHandle;
import java.io.IOException;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Adds the fence of the current lock to requests, so that their receiver can refuse those of a holder that lost its
 * lock. Thread-safe.
 *
 * <pre>{@code
 * RestClient ledger = RestClient.builder().baseUrl(url).requestInterceptor(fenceHeader).build();
 * }</pre>
 *
 * <p>Adds no header without a current lock. With nested locks, the fence is that of the innermost one. A request that
 * has the header already keeps it.
 */
public final class FenceHeaderInterceptor implements ClientHttpRequestInterceptor {

    private final boolean sends;

    public FenceHeaderInterceptor() {
        this(true);
    }

    private FenceHeaderInterceptor(boolean sends) {
        this.sends = sends;
    }

    /** Returns one that adds nothing: for an application without locks, whose fences say nothing to a receiver. */
    public static FenceHeaderInterceptor withoutLocks() {
        return new FenceHeaderInterceptor(false);
    }

    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        if (sends && request.getHeaders().getFirst(FenceHeader.NAME) == null) {
            LockHandle.current()
                    .ifPresent(lock -> request.getHeaders()
                            .set(FenceHeader.NAME, lock.fence().toString()));
        }
        return execution.execute(request, body);
    }
}
