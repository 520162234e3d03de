/** The fault matrix: applications work on real servers. Campaigns inject each fault many times and check the rules. */
package io.syncguard.verification.matrix;
