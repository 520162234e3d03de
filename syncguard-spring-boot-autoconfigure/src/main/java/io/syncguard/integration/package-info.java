/** Spring Integration's lock registry on the locks of this library. */
@NullMarked
package io.syncguard.integration;

import org.jspecify.annotations.NullMarked;
