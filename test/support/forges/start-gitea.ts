import type { TestProject } from "vitest/node";

import { startGitea } from "./gitea.ts";
import { makeGiteaSample } from "./gitea-sample.ts";
import { redirectGit } from "./redirect-git.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A stand-in for Gitea and Gogs on this machine, which has the sample project. */
    gitea: string;
  }
}

/**
 * Starts the stand-in for tests in the Worker, after start-remotes.ts: git is led to the remote
 * that has the server's name.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  const { url, close } = await startGitea(
    makeGiteaSample(),
    redirectGit(
      project.getProvidedContext().remotes[0],
      ({ url: path = "" }) => /^\/(at-[\w-]+)\//.exec(path)?.[1],
    ),
  );
  project.provide("gitea", url);
  return close;
}
