const facts = (() => ({ start() {}, show() {} }))();
