package io.syncguard;

/**
 * A resource has seen a larger fence than this one: a later holder has worked with it. The transaction that checked
 * the fence cannot commit.
 *
 * <p>It is not a {@link LockLostException}: it names a resource and not a key, and the fence may come from another
 * process, or from before a rotation of a lock that is still held.
 */
public class StaleFenceException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String resource;
    private final long fence;
    private final long largest;

    /**
     * @param fence the refused one
     * @param largest the largest that the resource has seen
     */
    public StaleFenceException(String resource, Fence fence, Fence largest) {
        super(
                LockErrorCode.LOST,
                "Fence " + fence + " of resource '" + resource + "' is refused, because " + largest
                        + " was seen before: another holder has the lock, or its fence was rotated. Acquire the lock"
                        + " again and repeat the work under its new fence");
        this.resource = resource;
        this.fence = fence.value();
        this.largest = largest.value();
    }

    /** The resource for which the fence was checked. */
    public String resource() {
        return resource;
    }

    /** The refused fence. */
    public Fence fence() {
        return new Fence(fence);
    }

    /** The largest fence that the resource has seen. */
    public Fence largest() {
        return new Fence(largest);
    }
}
