/** The bugs that are planted, to see that the harness catches them. Each is in the place of a part of the library. */
package io.syncguard.verification.bugs;
