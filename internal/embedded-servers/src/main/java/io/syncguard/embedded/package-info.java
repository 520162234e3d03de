/** Starts and stops real servers on this machine, without an installation. */
@NullMarked
package io.syncguard.embedded;

import org.jspecify.annotations.NullMarked;
