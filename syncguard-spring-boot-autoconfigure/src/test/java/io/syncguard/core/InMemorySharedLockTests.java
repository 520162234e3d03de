package io.syncguard.core;

class InMemorySharedLockTests extends SharedLockContract {

    @Override
    protected ContractStore emptyStore() {
        return new InMemoryContractStore();
    }
}
