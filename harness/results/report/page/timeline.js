const timeline = (() => ({ start() {}, show() {} }))();
