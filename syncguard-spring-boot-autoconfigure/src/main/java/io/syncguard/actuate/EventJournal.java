package io.syncguard.actuate;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import io.syncguard.MessageText;
import io.syncguard.core.LocalLock;
import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderRevokedEvent;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.util.StringUtils;

/**
 * Remembers the last events of this process, and counts the outcomes of its locks. It keeps {@value #CAPACITY} events
 * of the kinds that happen to each working lock, as many others, and counts for {@value #MAX_NAMES} names. Thread-safe,
 * and no thread waits for another.
 */
public final class EventJournal implements LockListener, LeaderListener {

    static final int CAPACITY = 200;

    static final int MAX_NAMES = 200;

    private static final Pattern SEEN = Pattern.compile("([0-9a-f]{8}):(\\d{1,18})");

    /** The name under which all names after the first {@value #MAX_NAMES} are counted. */
    private static final String OTHER = "other";

    private final Clock clock;
    private final String instance =
            String.format(Locale.ROOT, "%08x", ThreadLocalRandom.current().nextInt());
    private final AtomicLong lastNumber = new AtomicLong();
    private final Ring routine = new Ring();
    private final Ring notable = new Ring();
    private final Map<String, NameTally> tallies = new ConcurrentHashMap<>();

    public EventJournal() {
        this(Clock.systemUTC());
    }

    EventJournal(Clock clock) {
        this.clock = clock;
    }

    @Override
    public void waitStarted(LockEvent event) {
        add(EventType.WAITING, event, "");
    }

    @Override
    public void acquired(LockEvent event) {
        add(EventType.ACQUIRED, event, "");
    }

    @Override
    public void refused(LockEvent event) {
        add(EventType.REFUSED, event, reason(event));
    }

    @Override
    public void released(LockEvent event) {
        add(EventType.RELEASED, event, "");
    }

    @Override
    public void lost(LockEvent event) {
        add(EventType.LOST, event, reason(event));
    }

    @Override
    public void leaked(LockEvent event) {
        add(EventType.LEAKED, event, "");
    }

    @Override
    public void failed(LockEvent event, LockOperation operation, LockException error) {
        add(EventType.FAILED, event, lowerCase(operation) + ": " + error.getMessage());
    }

    @Override
    public void forceReleased(ForcedRelease release, String reason) {
        String name = Objects.requireNonNullElse(knownNames(List.of(), Map.of()).of(release.key()), "");
        if (release.released().isEmpty()) {
            String left = release.remaining().isEmpty()
                    ? ""
                    : "ended nothing, " + release.remaining().size() + " left; ";
            add(EventType.NOT_HELD, name, release.key(), null, null, "release by force; " + left + reason);
            return;
        }
        String leases = release.released().size() + " ended"
                + (release.remaining().isEmpty()
                        ? ""
                        : ", " + release.remaining().size() + " left");
        add(EventType.FORCE_RELEASED, name, release.key(), release.fence(), null, leases + "; " + reason);
    }

    @Override
    public void elected(LeaderElectedEvent event) {
        add(EventType.ELECTED, event.name(), null, event.fence(), null, "");
    }

    @Override
    public void revoked(LeaderRevokedEvent event) {
        add(EventType.REVOKED, event.name(), null, event.fence(), null, lowerCase(event.reason()));
    }

    /** Identifies this process among those that answer at one address. The numbers of its events are its own. */
    String instance() {
        return instance;
    }

    /**
     * The number of the last event of this process that a reader knows; 0 if it knows none.
     *
     * @param since {@code instance:number} of each instance, divided by commas
     * @throws InvalidEndpointRequestException if it is something else
     */
    long lastSeen(@Nullable String since) {
        long last = 0;
        for (String each : StringUtils.commaDelimitedListToStringArray(since)) {
            Matcher seen = SEEN.matcher(each);
            if (!seen.matches()) {
                throw new InvalidEndpointRequestException(
                        "The parameter since is '" + MessageText.shortened(each)
                                + "'. Give the number of the last event of each instance, as instance:number, divided"
                                + " by commas",
                        "Invalid since");
            }
            if (seen.group(1).equals(instance)) {
                last = Long.parseLong(seen.group(2));
            }
        }
        return last;
    }

    /** Returns the remembered events after this number, in their order. */
    List<EventDescriptor> eventsAfter(long number) {
        return Stream.concat(routine.events(), notable.events())
                .filter(event -> event.number() > number)
                .sorted(Comparator.comparingLong(EventDescriptor::number))
                .toList();
    }

    /** Returns the counts by the names of locks. */
    Map<String, NameDescriptor> names() {
        return names(List.of());
    }

    /**
     * Returns the counts by the names of locks, current locks included.
     *
     * @param current the locks that this process holds or waits for; they count as if they ended now
     */
    Map<String, NameDescriptor> names(List<LocalLock> current) {
        Map<String, NameDescriptor> names = new TreeMap<>();
        tallies.forEach((name, tally) -> names.put(name, tally.describe()));
        current.forEach(lock -> {
            String name = lock.request().name();
            names.computeIfPresent(tallies.containsKey(name) ? name : OTHER, (same, ended) -> ended.withCurrent(lock));
        });
        return names;
    }

    /**
     * The names that this process knows.
     *
     * @param current what it holds and waits for
     * @param permits how many permits its annotated methods have, by name
     */
    KnownNames knownNames(List<LocalLock> current, Map<String, Set<Integer>> permits) {
        Map<String, String> byKey = new HashMap<>();
        Stream.concat(routine.events(), notable.events())
                .filter(event -> event.key() != null && !event.name().isEmpty())
                .forEach(event -> byKey.put(event.key(), event.name()));
        current.forEach(lock -> byKey.put(lock.request().key(), lock.request().name()));
        return new KnownNames(byKey, tallies.keySet(), permits);
    }

    private void add(EventType type, LockEvent event, String text) {
        tally(event.name()).count(type, event);
        add(type, event.name(), event.key(), event.fence(), event.elapsed(), text);
    }

    private void add(
            EventType type,
            String name,
            @Nullable String key,
            @Nullable Fence fence,
            @Nullable Duration elapsed,
            String text) {
        Instant at = clock.instant();
        long number = lastNumber.incrementAndGet();
        (type.isRoutine() ? routine : notable)
                .add(new EventDescriptor(
                        number, at, type, name, key, fence == null ? null : fence.value(), elapsed, text));
    }

    private NameTally tally(String name) {
        NameTally known = tallies.get(name);
        if (known != null) {
            return known;
        }
        return tallies.computeIfAbsent(tallies.size() < MAX_NAMES ? name : OTHER, each -> new NameTally());
    }

    private static String reason(LockEvent event) {
        return event.reason() == null ? "" : lowerCase(event.reason());
    }

    private static String lowerCase(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** A ring buffer, in which the next event replaces the oldest one. */
    private static final class Ring {

        private final AtomicReferenceArray<@Nullable EventDescriptor> slots = new AtomicReferenceArray<>(CAPACITY);
        private final AtomicLong next = new AtomicLong();

        void add(EventDescriptor event) {
            slots.set((int) (next.getAndIncrement() % CAPACITY), event);
        }

        Stream<EventDescriptor> events() {
            return Stream.iterate(0, slot -> slot < CAPACITY, slot -> slot + 1)
                    .map(slots::get)
                    .filter(Objects::nonNull);
        }
    }
}
