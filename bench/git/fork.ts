import { expect, type Edgeforge } from "./edgeforge.ts";
import { measure, type Measurement, summarize } from "./measure.ts";

/** A fork, and the creation of an empty repository by the same user. */
export type ForkMeasurement = { fork: Measurement; creation: Measurement };

let users = 0;

/**
 * Forks a repository, with a new user in each run, because a user can fork a repository only once.
 *
 * @returns Undefined if the service has no forks.
 */
export async function measureFork(
  edgeforge: Edgeforge,
  name: string,
  runs: number,
): Promise<ForkMeasurement | undefined> {
  const forks: Measurement[] = [];
  const creations: Measurement[] = [];
  const path = `/repos/${edgeforge.owner}/${name}/forks`;
  for (let run = 0; run < runs; run += 1) {
    users += 1;
    const user = await edgeforge.makeUser(`forker-${users}`);
    let status = 0;
    const create = async (): Promise<void> => {
      expect(201, await user.call("POST", "/user/repos", { name: "empty" }));
    };
    const fork = async (): Promise<void> => {
      ({ status } = await user.call("POST", path, {}));
    };
    // The first request of a user also records the use of the token, so it is not a measured one.
    expect(200, await user.call("GET", "/user"));
    if (run % 2 === 0) creations.push(await measure(edgeforge, create));
    const measured = await measure(edgeforge, fork);
    if (status === 404) return undefined;
    if (status !== 202) throw new Error(`unexpected status ${status} for a fork`);
    forks.push(measured);
    if (run % 2 === 1) creations.push(await measure(edgeforge, create));
  }
  return { fork: summarize(forks), creation: summarize(creations) };
}
