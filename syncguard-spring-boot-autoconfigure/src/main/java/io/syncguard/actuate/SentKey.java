package io.syncguard.actuate;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.PathContainer.Element;
import org.springframework.http.server.PathContainer.PathSegment;
import org.springframework.util.StringUtils;

/**
 * Compares a key at the end of a path to the key that reaches the endpoint. Spring cuts {@code ;42} off
 * {@code order;42}, and replaces malformed UTF-8, so the endpoint would release another lock.
 */
final class SentKey {

    /** What the answer to such a request says. */
    static final String REFUSAL =
            "The key in the path has a semicolon that is not encoded, or is malformed. Write %3B for"
                    + " a semicolon, or pass the key as ?key=";

    private SentKey() {}

    /** Whether the last segment of the path reaches the endpoint as it was sent. */
    static boolean isAtEndOf(PathContainer path) {
        List<Element> elements = path.elements();
        return !elements.isEmpty()
                && elements.get(elements.size() - 1) instanceof PathSegment segment
                && segment.valueToMatch().equals(decoded(segment.value()));
    }

    /** Returns {@code null} if the segment is malformed. */
    private static @Nullable String decoded(String segment) {
        if (segment.indexOf('%') < 0) {
            return segment;
        }
        try {
            byte[] bytes = StringUtils.uriDecode(segment, ISO_8859_1).getBytes(ISO_8859_1);
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException | IllegalArgumentException ex) {
            return null;
        }
    }
}
