package io.syncguard.core;

class InMemoryQueueTests extends QueueContract {

    @Override
    protected ContractStore emptyStore() {
        return new InMemoryContractStore();
    }
}
