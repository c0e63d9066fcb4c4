import { inject } from "vitest";

import { make } from "../make.ts";
import type { GiteaBehaviour, GiteaJournalEntry } from "./gitea.ts";
import { makeGiteaSample } from "./gitea-sample.ts";
import { type Hooks, importSample, makeProjectGit } from "./import-sample.ts";

/** Takes the sample of Gitea, or of Gogs, over; ada has an account here, nobody else. */
export async function importGitea(behaviour: GiteaBehaviour = {}, onWait?: Hooks["onWait"]) {
  const here = inject("gitea");
  const instance = `at-${crypto.randomUUID()}`;
  const refOf = (number: number): string => `refs/pull/${number}/head`;
  const { oids } = await makeProjectGit(instance, "src/main.c", {
    feature: [2, 7, 8].map(refOf),
    fix: [4, 6, 9].map(refOf),
  });
  const placeholders = {
    ["b".repeat(40)]: oids.base,
    ["f".repeat(40)]: oids.feature,
    ["1".repeat(40)]: oids.fix,
    ["e".repeat(40)]: oids.merge,
  };
  await fetch(`${here}/_behaviour/${instance}`, {
    method: "PUT",
    body: JSON.stringify({ oids: placeholders, ...behaviour }),
  });
  const ada = await make.admin();
  const rootUrl = `${here}/${instance}`;
  const imported = await importSample(
    ada,
    {
      service: behaviour.isGogs ? "gogs" : "gitea",
      clone_addr: `${rootUrl}/gardeners/app`,
      authors: { ada: ada.name },
      ...(behaviour.token !== undefined && { auth_token: behaviour.token }),
    },
    {
      onWait: async (...at) => {
        await onWait?.(...at);
        await fetch(`${here}/_window/${instance}`, { method: "PUT" });
      },
    },
  );
  const requests: GiteaJournalEntry[] = await (await fetch(`${here}/_journal/${instance}`)).json();
  return { ...imported, ada, oids, rootUrl, requests, sample: makeGiteaSample(oids) };
}
