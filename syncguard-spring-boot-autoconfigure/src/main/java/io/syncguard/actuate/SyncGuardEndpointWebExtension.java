package io.syncguard.actuate;

import io.syncguard.LockOrder;
import java.security.Principal;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;

/** The endpoint over HTTP. The roles of the user decide whether it shows keys. */
@EndpointWebExtension(endpoint = SyncGuardEndpoint.class)
// Spring Boot 3 recognises optional parameters only by the deprecated annotation.
@SuppressWarnings("deprecation")
public final class SyncGuardEndpointWebExtension {

    private static final int CONFLICT = 409;

    private final SyncGuardEndpoint endpoint;
    private final Show showValues;
    private final Set<String> roles;
    private final Consumer<Map<String, String>> answer;
    private final Supplier<@Nullable SentRequest> running;

    /**
     * @param showValues when keys are shown
     * @param roles of users who see keys with {@link Show#WHEN_AUTHORIZED}; empty for all authenticated users
     * @param answer sets headers of the answer, if there is a running request
     * @param running gives the running request; {@code null} if a filter has checked it
     */
    public SyncGuardEndpointWebExtension(
            SyncGuardEndpoint endpoint,
            Show showValues,
            Set<String> roles,
            Consumer<Map<String, String>> answer,
            Supplier<@Nullable SentRequest> running) {
        this.answer = answer;
        this.running = running;
        this.endpoint = endpoint;
        this.showValues = showValues;
        this.roles = roles;
    }

    @ReadOperation
    public WebEndpointResponse<?> locks(
            SecurityContext user,
            @org.springframework.lang.Nullable @Nullable String prefix,
            @org.springframework.lang.Nullable @Nullable String key,
            @org.springframework.lang.Nullable @Nullable String after,
            @org.springframework.lang.Nullable @Nullable Integer limit,
            @org.springframework.lang.Nullable @Nullable String since,
            @org.springframework.lang.Nullable @Nullable String contains,
            @org.springframework.lang.Nullable @Nullable String owner,
            @org.springframework.lang.Nullable @Nullable Boolean waitedFor,
            @org.springframework.lang.Nullable @Nullable LockOrder order) {
        return answer(() -> new WebEndpointResponse<>(endpoint.locks(
                new LocksQuestion(prefix, key, after, limit, since, contains, owner, waitedFor, order), view(user))));
    }

    /** Answers with 404 if nobody holds the key or waits for it. */
    @ReadOperation
    public WebEndpointResponse<?> lock(
            SecurityContext user, @Selector String key, @org.springframework.lang.Nullable @Nullable String manager) {
        return answer(() -> {
            requireSent(SentRequest::refusalOfKeyInPath);
            return endpoint.lock(key, manager, view(user))
                    .map(WebEndpointResponse::new)
                    .orElseGet(() -> new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND));
        });
    }

    /**
     * Answers with 404 if nobody held the key, and with 409 if a lease remains that should have ended, because a
     * transaction commits under it, or if the grant with the fence is over and somebody else holds the key.
     */
    @DeleteOperation
    public WebEndpointResponse<?> forceRelease(
            SecurityContext user,
            @Selector String key,
            @org.springframework.lang.Nullable @Nullable Long fence,
            @org.springframework.lang.Nullable @Nullable String manager,
            @org.springframework.lang.Nullable @Nullable String reason) {
        return answer(() -> {
            requireSent(SentRequest::refusalOfKeyInPath);
            return released(user, key, fence, manager, reason);
        });
    }

    /**
     * Like {@link #forceRelease}, for a key that cannot be in a path, such as one with a slash; or for all leases of an
     * owner: answers with 404 if there are none, and with 409 if one remains that should have ended.
     *
     * @param owner in place of a key, a part of the label of the holders
     * @param dryRun whether to list the leases of the owner only, which is so if not given
     */
    @DeleteOperation
    public WebEndpointResponse<?> forceReleaseByParameter(
            SecurityContext user,
            @org.springframework.lang.Nullable @Nullable String key,
            @org.springframework.lang.Nullable @Nullable Long fence,
            @org.springframework.lang.Nullable @Nullable String owner,
            @org.springframework.lang.Nullable @Nullable Boolean dryRun,
            @org.springframework.lang.Nullable @Nullable String manager,
            @org.springframework.lang.Nullable @Nullable String reason) {
        return answer(() -> {
            if (key != null && owner == null && dryRun == null) {
                return released(user, key, fence, manager, reason);
            }
            if (key != null || owner == null || fence != null) {
                throw new InvalidEndpointRequestException(
                        "Pass 'key', perhaps with 'fence', to release one lock. Pass 'owner' to list the leases of an"
                                + " owner, and 'dryRun=false' beside it to release them",
                        "Invalid parameter");
            }
            OwnerReleaseDescriptor done = endpoint.forceReleaseAll(
                    owner, !Boolean.FALSE.equals(dryRun), manager, reason, nameOf(user), view(user));
            return new WebEndpointResponse<>(
                    done,
                    done.hasRest()
                            ? CONFLICT
                            : done.leases().isEmpty()
                                    ? WebEndpointResponse.STATUS_NOT_FOUND
                                    : WebEndpointResponse.STATUS_OK);
        });
    }

    private WebEndpointResponse<?> released(
            SecurityContext user, String key, @Nullable Long fence, @Nullable String manager, @Nullable String reason) {
        ForcedReleaseDescriptor done = endpoint.forceRelease(key, fence, manager, reason, nameOf(user), view(user));
        return new WebEndpointResponse<>(done, statusOf(done, fence != null));
    }

    private static String nameOf(SecurityContext user) {
        Principal principal = user.getPrincipal();
        return principal == null ? "an unknown user" : principal.getName();
    }

    private void requireSent(Function<SentRequest, SentRequest.@Nullable Refusal> check) {
        SentRequest request = running.get();
        SentRequest.Refusal refusal = request == null ? null : check.apply(request);
        if (refusal != null) {
            throw new InvalidEndpointRequestException(refusal.detail(), refusal.title());
        }
    }

    private KeyView view(SecurityContext user) {
        return endpoint.view(showValues.isShown(user, roles));
    }

    /** Answers a bad request with the reason, which Spring Boot's own answer leaves out by default. */
    private WebEndpointResponse<?> answer(Supplier<WebEndpointResponse<?>> operation) {
        answer.accept(AnswerHeaders.OF_DATA);
        try {
            requireSent(SentRequest::refusalOfParameters);
            return operation.get();
        } catch (InvalidEndpointRequestException ex) {
            ProblemDetail problem =
                    ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, String.valueOf(ex.getMessage()));
            problem.setTitle(ex.getReason());
            return new WebEndpointResponse<>(
                    problem, WebEndpointResponse.STATUS_BAD_REQUEST, MediaType.APPLICATION_PROBLEM_JSON);
        }
    }

    private static int statusOf(ForcedReleaseDescriptor done, boolean isGrantNamed) {
        boolean hasReleased = !done.released().isEmpty();
        if (!done.remaining().isEmpty() && !(isGrantNamed && hasReleased)) {
            return CONFLICT;
        }
        return hasReleased ? WebEndpointResponse.STATUS_OK : WebEndpointResponse.STATUS_NOT_FOUND;
    }
}
