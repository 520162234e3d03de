package io.syncguard.benchmarks;

import java.util.EnumMap;
import java.util.Map;

/** Contenders, each with a separate database. */
final class Contenders implements AutoCloseable {

    private final Map<Peer, Contender> contenders = new EnumMap<>(Peer.class);

    Contenders(Arena arena) {
        for (Peer peer : arena.peers()) {
            contenders.put(peer, peer.open(arena.url(peer)));
        }
    }

    Contender get(Peer peer) {
        Contender contender = contenders.get(peer);
        if (contender == null) {
            throw new IllegalArgumentException(peer.label());
        }
        return contender;
    }

    @Override
    public void close() {
        contenders.values().forEach(Contender::close);
    }
}
