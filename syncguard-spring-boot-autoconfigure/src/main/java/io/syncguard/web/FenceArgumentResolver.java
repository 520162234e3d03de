package io.syncguard.web;

import io.syncguard.Fence;
import java.time.Clock;
import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;

/**
 * Passes the fence of a request to a controller method with a parameter of type {@link Fence}. Refuses a request
 * without a fence, unless the parameter is an {@code Optional<Fence>} or nullable.
 */
public final class FenceArgumentResolver implements HandlerMethodArgumentResolver {

    private final InstantSource clock;

    public FenceArgumentResolver() {
        this(Clock.systemUTC());
    }

    FenceArgumentResolver(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        return parameter.nestedIfOptional().getNestedParameterType() == Fence.class;
    }

    @Override
    public @Nullable Object resolveArgument(
            MethodParameter parameter,
            @Nullable ModelAndViewContainer container,
            NativeWebRequest request,
            @Nullable WebDataBinderFactory binders) {
        Fence fence = FenceHeader.read(request.getHeaderValues(FenceHeader.NAME), clock.instant());
        if (parameter.getParameterType() == Optional.class) {
            return Optional.ofNullable(fence);
        }
        if (fence == null && !parameter.isOptional()) {
            throw new FenceHeaderException("The request has no header " + FenceHeader.NAME
                    + ". Send the fence of the lock under which it is made");
        }
        return fence;
    }
}
