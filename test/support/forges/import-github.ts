import { inject } from "vitest";

import { make } from "../make.ts";
import type { GitHubBehaviour, GitHubRequest } from "./github.ts";
import { makeGitHubSample } from "./github-sample.ts";
import { importSample, makeProjectGit } from "./import-sample.ts";

/** Takes the sample of GitHub over; ada has an account here, nobody else. */
export async function importGitHub(behaviour: GitHubBehaviour = {}, mirror: object = {}) {
  const owner = `owner-${crypto.randomUUID()}`;
  const { oids, remote } = await makeProjectGit(owner, "src/a.txt", {
    feature: ["refs/pull/5/head", "refs/pull/8/head", "refs/pull/9/head", "refs/pull/10/head"],
    fix: ["refs/pull/6/head", "refs/pull/7/head"],
  });
  const placeholders = {
    ["b".repeat(40)]: oids.base,
    ["f".repeat(40)]: oids.feature,
    ["1".repeat(40)]: oids.fix,
    ["e".repeat(40)]: oids.merge,
  };
  const here = inject("github");
  /** Changes how the forge behaves, and forgets what it was asked. */
  const change = (changed: GitHubBehaviour) =>
    fetch(`${here}/_behaviour/${owner}`, {
      method: "PUT",
      body: JSON.stringify({ oids: placeholders, ...behaviour, ...changed }),
    });
  await change({});
  const ada = await make.admin();
  const imported = await importSample(
    ada,
    {
      service: "github",
      clone_addr: `${here}/${owner}/app`,
      authors: { ada: ada.name },
      ...mirror,
    },
    { onWait: () => fetch(`${here}/_window/${owner}`, { method: "PUT" }) },
  );
  const listRequests = async (): Promise<GitHubRequest[]> =>
    (await fetch(`${here}/_journal/${owner}`)).json();
  const requests = await listRequests();
  const faultCount = requests.filter(({ status }) => status === behaviour.fault?.status).length;
  const sample = makeGitHubSample(oids);
  return { ...imported, ada, oids, sample, requests, listRequests, change, remote, faultCount };
}
