import type { TestProject } from "vitest/node";

import { startGitHub } from "./github.ts";
import { makeGitHubSample } from "./github-sample.ts";
import { redirectGit } from "./redirect-git.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A stand-in for GitHub on this machine, which has the sample project. */
    github: string;
  }
}

/**
 * Starts the stand-in for tests in the Worker, after start-remotes.ts: git is led to the remote
 * that has the owner's name.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  const { url, close } = await startGitHub(
    makeGitHubSample(),
    redirectGit(
      project.getProvidedContext().remotes[0],
      ({ url: path = "" }) => /^\/(owner-[\w-]+)\//.exec(path)?.[1],
    ),
  );
  project.provide("github", url);
  return close;
}
