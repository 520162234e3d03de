/** The annotation of scheduled jobs that one instance runs. It needs Spring, for the aliases of its attributes. */
@NullMarked
package io.syncguard.scheduling;

import org.jspecify.annotations.NullMarked;
