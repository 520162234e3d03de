/** Starts and stops real servers on this machine. They need no installation. */
@NullMarked
package io.syncguard.embedded;

import org.jspecify.annotations.NullMarked;
