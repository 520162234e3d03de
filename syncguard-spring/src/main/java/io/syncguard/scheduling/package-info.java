/** The annotation of scheduled jobs that one instance runs. The aliases of its attributes need Spring. */
@NullMarked
package io.syncguard.scheduling;

import org.jspecify.annotations.NullMarked;
