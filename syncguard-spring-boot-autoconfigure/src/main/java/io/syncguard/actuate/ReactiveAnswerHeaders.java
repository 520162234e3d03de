package io.syncguard.actuate;

import java.util.Map;
import java.util.function.Supplier;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** Sets headers of the answers of endpoints in WebFlux. */
public final class ReactiveAnswerHeaders implements WebFilter {

    private final Supplier<Map<String, Map<String, String>>> headersOfPaths;

    /** @param headersOfPaths gives the headers by the paths of endpoints; first called at a request */
    public ReactiveAnswerHeaders(Supplier<Map<String, Map<String, String>>> headersOfPaths) {
        this.headersOfPaths = headersOfPaths;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        String path = exchange.getRequest().getPath().pathWithinApplication().value();
        HttpHeaders answer = exchange.getResponse().getHeaders();
        headersOfPaths.get().forEach((endpoint, headers) -> {
            if (path.equals(endpoint) || path.startsWith(endpoint + "/")) {
                headers.forEach(answer::set);
            }
        });
        return chain.filter(exchange);
    }
}
