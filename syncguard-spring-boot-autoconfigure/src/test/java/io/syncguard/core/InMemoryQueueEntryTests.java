package io.syncguard.core;

class InMemoryQueueEntryTests extends QueueEntryContract {

    @Override
    protected ContractStore emptyStore() {
        return new InMemoryContractStore();
    }
}
