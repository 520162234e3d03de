/** Members of an election in several processes, whose leader and whose server are disturbed: never two leaders. */
package io.syncguard.verification.leadership;
