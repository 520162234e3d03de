package io.syncguard.actuate;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/** How a reader sees keys, and how it names them: as they are, or by their {@linkplain HiddenKeys hashes}. */
interface KeyView {

    /** For readers who may see keys. */
    KeyView PLAIN = new KeyView() {

        @Override
        public boolean isPlain() {
            return true;
        }

        @Override
        public String show(String key) {
            return key;
        }

        @Override
        public String find(String shown) {
            return shown;
        }
    };

    /** Whether the reader sees keys as they are. */
    boolean isPlain();

    /** What the reader sees instead of this key. */
    String show(String key);

    /**
     * The key of which the reader has seen this.
     *
     * @throws InvalidEndpointRequestException if this process has not shown it
     */
    String find(String shown);
}
