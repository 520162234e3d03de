/**
 * What tests share: a real server, and a proxy in front of it.
 */
package io.syncguard.testing;
