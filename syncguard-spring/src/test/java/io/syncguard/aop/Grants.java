package io.syncguard.aop;

import io.syncguard.LockEvent;
import io.syncguard.LockListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The keys that an application was granted, one after the other. */
final class Grants implements LockListener {

    final List<String> keys = new CopyOnWriteArrayList<>();

    @Override
    public void acquired(LockEvent event) {
        keys.add(event.key());
    }
}
