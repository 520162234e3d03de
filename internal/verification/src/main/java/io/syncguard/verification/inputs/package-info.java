/** Random inputs for everything that a caller, a client or an operator can pass, and checks of the answers. */
@NullMarked
package io.syncguard.verification.inputs;

import org.jspecify.annotations.NullMarked;
