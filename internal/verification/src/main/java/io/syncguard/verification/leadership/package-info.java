/** Members of an election in several processes. The runs disturb leader and server, and never find two leaders. */
package io.syncguard.verification.leadership;
