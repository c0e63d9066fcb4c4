import { inject } from "vitest";

import { make } from "../make.ts";
import type { Faults } from "./gitlab.ts";
import { SAMPLE_PATH, sampleProject } from "./gitlab-sample.ts";
import { oid } from "./gitlab-sample-parts.ts";
import { importSample, makeProjectGit } from "./import-sample.ts";

/**
 * Takes the sample of GitLab over; ada has an account here, nobody else.
 *
 * @param perWindow Requests that are answered before each wait; undefined for any number.
 */
export async function importGitLab(faults: Faults | null = null, perWindow?: number) {
  const here = inject("gitlab");
  // The stand-in knows by the token which git and which commits are meant.
  const token = `glpat-${crypto.randomUUID()}`;
  const heads = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((iid) => `refs/merge-requests/${iid}/head`);
  const { oids } = await makeProjectGit(token, "src/b.ts", { feature: heads, fix: [] });
  const control = (verb: string, body: unknown) =>
    fetch(`${here}/-/${verb}?token=${token}`, { method: "POST", body: JSON.stringify(body) });
  await control("oids", {
    [oid("a")]: oids.feature,
    [oid("b")]: oids.base,
    [oid("1")]: oids.merge,
  });
  await control("faults", faults);
  const ada = await make.admin();
  const size = perWindow === undefined ? "" : `&size=${perWindow}`;
  const openWindow = () => fetch(`${here}/-/window?token=${token}${size}`);
  await openWindow();
  const imported = await importSample(
    ada,
    {
      service: "gitlab",
      clone_addr: `${here}/${SAMPLE_PATH}`,
      auth_token: token,
      authors: { ada: ada.name },
    },
    { onWait: openWindow },
  );
  await fetch(`${here}/-/window?token=${token}`);
  const requests: string[] = await (await fetch(`${here}/-/journal?token=${token}`)).json();
  await control("faults", null);
  return { ...imported, ada, oids, requests, sample: sampleProject(here) };
}
