package io.syncguard.core;

class InMemoryWokenWaitersTests extends WokenWaitersContract {

    @Override
    protected ContractStore emptyStore() {
        return new InMemoryContractStore();
    }
}
