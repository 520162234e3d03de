package io.syncguard.actuate;

/** How a reader sees keys: as they are, or their {@linkplain HiddenKeys hashes}. */
interface KeyView {

    /** The view of readers who may see keys. */
    KeyView PLAIN = new KeyView() {

        @Override
        public boolean isPlain() {
            return true;
        }

        @Override
        public String show(String key) {
            return key;
        }
    };

    /** Whether the reader sees keys as they are. */
    boolean isPlain();

    /** Returns what the reader sees instead of this key. */
    String show(String key);
}
