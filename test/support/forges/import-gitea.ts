import { inject } from "vitest";

import { make } from "../make.ts";
import type { GiteaBehaviour, GiteaJournalEntry } from "./gitea.ts";
import { makeGiteaSample } from "./gitea-sample.ts";
import { type Hooks, importSample, makeProjectGit } from "./import-sample.ts";

/** Takes the sample of Gitea, or of Gogs, over; ada has an account here, nobody else. */
export async function importGitea(
  behaviour: GiteaBehaviour = {},
  onWait?: Hooks["onWait"],
  mirror: object = {},
) {
  const here = inject("gitea");
  const instance = `at-${crypto.randomUUID()}`;
  const refOf = (number: number): string => `refs/pull/${number}/head`;
  const { oids, remote } = await makeProjectGit(instance, "src/main.c", {
    feature: [2, 7, 8].map(refOf),
    fix: [4, 6, 9].map(refOf),
  });
  const placeholders = {
    ["b".repeat(40)]: oids.base,
    ["f".repeat(40)]: oids.feature,
    ["1".repeat(40)]: oids.fix,
    ["e".repeat(40)]: oids.merge,
  };
  /** Changes how the forge behaves, and forgets what it was asked. */
  const change = (changed: GiteaBehaviour) =>
    fetch(`${here}/_behaviour/${instance}`, {
      method: "PUT",
      body: JSON.stringify({ oids: placeholders, ...behaviour, ...changed }),
    });
  await change({});
  const ada = await make.admin();
  const rootUrl = `${here}/${instance}`;
  const imported = await importSample(
    ada,
    {
      service: behaviour.isGogs ? "gogs" : "gitea",
      clone_addr: `${rootUrl}/gardeners/app`,
      authors: { ada: ada.name },
      ...mirror,
      ...(behaviour.token !== undefined && { auth_token: behaviour.token }),
    },
    {
      onWait: async (...at) => {
        await onWait?.(...at);
        await fetch(`${here}/_window/${instance}`, { method: "PUT" });
      },
    },
  );
  const listRequests = async (): Promise<GiteaJournalEntry[]> =>
    (await fetch(`${here}/_journal/${instance}`)).json();
  const requests = await listRequests();
  return {
    ...imported,
    ada,
    oids,
    rootUrl,
    requests,
    listRequests,
    change,
    remote,
    sample: makeGiteaSample(oids),
  };
}
