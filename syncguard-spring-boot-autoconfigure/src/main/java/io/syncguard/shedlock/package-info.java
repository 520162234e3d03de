/** ShedLock on the locks of this library. */
@NullMarked
package io.syncguard.shedlock;

import org.jspecify.annotations.NullMarked;
