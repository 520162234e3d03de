package io.syncguard.actuate;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Headers of the answers of the endpoint and the console: no cache keeps them, no page shows them in a frame, and a
 * browser takes them for nothing else.
 */
public final class AnswerHeaders {

    /** A browser that opens an answer of the endpoint runs and loads nothing. */
    public static final Map<String, String> OF_DATA = with("default-src 'none'");

    private AnswerHeaders() {}

    /** @param policy what a page may run and load */
    static Map<String, String> with(String policy) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Cache-Control", "no-store");
        // A policy in a page cannot forbid frames.
        headers.put("Content-Security-Policy", policy + "; frame-ancestors 'none'");
        headers.put("X-Frame-Options", "DENY");
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("Referrer-Policy", "same-origin");
        return Map.copyOf(headers);
    }
}
