import { Agent, request } from "node:http";

import { type HostService, openHostService } from "../host-service.ts";

/**
 * How long a process that answers nothing holds up a write, in milliseconds: what it keeps lasts no
 * longer.
 */
const WAIT_MS_MAX = 5000;

/**
 * Tells all entry processes of each write, and answers once they know: none of them shows then what
 * was read before. Writes that come meanwhile are reported together.
 *
 * @param path      The socket at which the keeper names the scope of a write.
 * @param listeners The sockets of the entry processes that run now.
 */
export function passOnWrites(
  path: string,
  listeners: () => readonly string[],
): Promise<HostService> {
  const rounds: Record<string, Rounds> = {};
  return openHostService(path, ({ url = "/" }, response) => {
    const round = (rounds[url] ??= new Rounds(() =>
      Promise.all(listeners().map((each) => tell(each, url))),
    ));
    void round.next().then(() => response.end());
  });
}

const agent = new Agent({ keepAlive: true });

/** Runs one round after the other, each for all who have asked since the last one began. */
class Rounds {
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<unknown> | undefined;
  readonly #run: () => Promise<unknown>;

  constructor(run: () => Promise<unknown>) {
    this.#run = run;
  }

  next(): Promise<unknown> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      this.#last = this.#run();
      return this.#last;
    });
    return this.#next;
  }
}

/** @returns Once the process knows, or has ended. */
function tell(socketPath: string, path: string): Promise<void> {
  return new Promise((resolve) => {
    const options = { socketPath, path, agent, method: "POST", timeout: WAIT_MS_MAX };
    const sent = request(options, (response) => {
      response.resume().on("close", resolve);
    });
    sent.on("timeout", () => sent.destroy());
    // The process at the other end of a connection may have ended, and another have its place.
    sent.on("error", () => resolve(sent.reusedSocket ? tell(socketPath, path) : undefined));
    sent.end();
  });
}
