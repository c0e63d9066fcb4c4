/**
 * Waits for the next task, so that other requests of the isolate have their turn.
 *
 * A timer and not a promise: promises run before the events of other requests and of the
 * connection.
 */
export const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
