package io.syncguard.actuate;

import java.util.LinkedHashMap;
import java.util.Map;

/** Headers for the answers of the endpoint and the console. They forbid caches, frames and content sniffing. */
public final class AnswerHeaders {

    /** Headers for data: a browser that opens such an answer runs and loads nothing. */
    public static final Map<String, String> OF_DATA = with("default-src 'none'");

    private AnswerHeaders() {}

    /** @param policy the content security policy: what a page may run and load */
    static Map<String, String> with(String policy) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Cache-Control", "no-store");
        // A policy inside the page cannot forbid frames.
        headers.put("Content-Security-Policy", policy + "; frame-ancestors 'none'");
        headers.put("X-Frame-Options", "DENY");
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("Referrer-Policy", "same-origin");
        return Map.copyOf(headers);
    }
}
