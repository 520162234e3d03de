package io.syncguard.actuate;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;

/**
 * Sets headers of the answers of endpoints in WebFlux, whatever the spelling of the path that led there: the handler
 * that Spring has found decides, and for an answer without a handler the decoded path. Refuses a request that would
 * not reach the endpoint as it was sent.
 */
public final class ReactiveAnswerHeaders implements WebFilter {

    /** The pattern of the handler: the attribute of HandlerMapping in WebFlux, on which this class does not depend. */
    private static final String FOUND = "org.springframework.web.reactive.HandlerMapping.bestMatchingPattern";

    private final Supplier<List<Endpoint>> endpoints;

    /** @param headersOfPaths gives the headers by the paths of endpoints; first called at a request */
    public ReactiveAnswerHeaders(Supplier<Map<String, Map<String, String>>> headersOfPaths) {
        this.endpoints = SingletonSupplier.of(() -> headersOfPaths.get().entrySet().stream()
                .map(each -> Endpoint.of(each.getKey(), each.getValue()))
                .toList());
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        ServerHttpResponse answer = exchange.getResponse();
        ServerHttpRequest request = exchange.getRequest();
        PathContainer path = request.getPath().pathWithinApplication();
        answer.beforeCommit(() -> Mono.fromRunnable(() -> setHeaders(exchange, path)));
        SentRequest sent = new SentRequest(path, request.getURI().getRawQuery(), request.getQueryParams());
        return endpoints.get().stream()
                .map(endpoint -> endpoint.refusal(sent))
                .filter(Objects::nonNull)
                .findFirst()
                .map(refusal -> refuse(answer, refusal))
                .orElseGet(() -> chain.filter(exchange));
    }

    private void setHeaders(ServerWebExchange exchange, PathContainer path) {
        PathPattern found = exchange.getAttribute(FOUND);
        endpoints.get().stream()
                .filter(endpoint -> endpoint.isOf(found) || endpoint.below().matches(path))
                .forEach(endpoint ->
                        endpoint.headers().forEach(exchange.getResponse().getHeaders()::set));
    }

    private static Mono<Void> refuse(ServerHttpResponse answer, SentRequest.Refusal refusal) {
        answer.setStatusCode(HttpStatus.BAD_REQUEST);
        answer.getHeaders().setContentType(MediaType.APPLICATION_PROBLEM_JSON);
        byte[] problem = "{\"detail\":\"%s\",\"status\":400,\"title\":\"%s\"}"
                .formatted(refusal.detail(), refusal.title())
                .getBytes(StandardCharsets.UTF_8);
        return answer.writeWith(Mono.just(answer.bufferFactory().wrap(problem)));
    }

    /**
     * @param below matches the path of the endpoint and all below it
     * @param keys match the path of a key
     */
    private record Endpoint(String path, PathPattern below, List<PathPattern> keys, Map<String, String> headers) {

        static Endpoint of(String path, Map<String, String> headers) {
            return new Endpoint(
                    path, pattern(path + "/**"), List.of(pattern(path + "/{key}"), pattern(path + "/{key}/")), headers);
        }

        SentRequest.@Nullable Refusal refusal(SentRequest sent) {
            SentRequest.Refusal ofParameters = below.matches(sent.path()) ? sent.refusalOfParameters() : null;
            boolean hasKey = keys.stream().anyMatch(pattern -> pattern.matches(sent.path()));
            return ofParameters == null && hasKey ? sent.refusalOfKeyInPath() : ofParameters;
        }

        boolean isOf(@Nullable PathPattern found) {
            return found != null
                    && (found.getPatternString().equals(path)
                            || found.getPatternString().startsWith(path + "/"));
        }

        private static PathPattern pattern(String text) {
            return PathPatternParser.defaultInstance.parse(text);
        }
    }
}
