/**
 * Waits for the next task, so that other requests of the isolate have their turn.
 *
 * A timer and not a promise: the runtime reads its sockets when nothing else is left to do, and
 * promises, and calls that the same process answers, as all local ones do, always leave something.
 */
export const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
