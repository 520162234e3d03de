/** Random inputs for everything that a caller, a client or an operator can pass, and what may be answered. */
@NullMarked
package io.syncguard.verification.inputs;

import org.jspecify.annotations.NullMarked;
