/**
 * What `compileAndRun` takes on the machine for which bounds of time are set, while it is idle, in
 * milliseconds.
 */
const REFERENCE_MS = 100;

/** Statements of the program that is compiled and run. */
const STATEMENTS = 1500;
const RUNS = 3;

/**
 * How many times as long this machine takes at the moment as the one for which bounds of time are
 * set; at least 1, so that a faster one loosens none. It takes half a second.
 */
export function slowness(): number {
  const times = Array.from({ length: RUNS }, compileAndRun);
  return Math.max(1, Math.min(...times) / REFERENCE_MS);
}

/**
 * Compiles and runs a program that no cache has, as the start of a Worker does, and returns the
 * milliseconds that it took.
 */
function compileAndRun(): number {
  const salt = Math.random();
  const statements = Array.from(
    { length: STATEMENTS },
    (_, at) => `
      lengths.push(new (class {
        #own = ${at};
        read(salt) {
          const made = { salt, own: this.#own, list: [${at}, salt] };
          return Object.entries(made).map(([name, value]) => name + value).join();
        }
      })().read(${salt}).length);`,
  );
  const source = `const lengths = []; ${statements.join("")} return lengths.length;`;
  const startedAt = performance.now();
  // oxlint-disable-next-line typescript/no-implied-eval -- no cache has what is made here
  new Function(source)();
  return performance.now() - startedAt;
}
