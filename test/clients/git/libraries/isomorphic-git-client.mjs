/**
 * Clones, deepens and pushes with isomorphic-git. Arguments: the module's folder, then address,
 * user, password, directory.
 */
import fs from "node:fs";
import { createRequire } from "node:module";

const [modules = "", url = "", username = "", password = "", directory = ""] =
  process.argv.slice(2);
const require = createRequire(`${modules}/`);
const git = require("isomorphic-git");
const http = require("isomorphic-git/http/node");

const at = (name) => ({ fs, http, dir: `${directory}/${name}`, onAuth });
const onAuth = () => ({ username, password });
const count = async (name) => (await git.log(at(name))).length;

await git.clone({ ...at("full"), url });
await git.clone({ ...at("shallow"), url, depth: 1, singleBranch: true });
const depths = [await count("shallow")];
for (const depth of [3, 2 ** 31 - 1]) {
  await git.fetch({ ...at("shallow"), depth, ref: "main", singleBranch: true });
  depths.push(await count("shallow"));
}

const full = at("full");
const [head, parent] = await git.log({ ...full, depth: 2 });
await git.branch({ ...full, ref: "new" });
await git.branch({ ...full, ref: "old", object: parent.oid, force: true });
const tagger = { name: "a", email: "a@example.com" };
await git.annotatedTag({ ...full, ref: "made", message: "made here", object: head.oid, tagger });
const refused = [];
/** Pushes one ref, which is all that the library pushes at once. */
async function push(options) {
  try {
    await git.push({ ...full, ...options });
  } catch (error) {
    if (error.code !== "GitPushError") throw error;
    refused.push(options.remoteRef);
  }
}
await push({ ref: "new", remoteRef: "refs/heads/new" });
await push({ ref: "old", remoteRef: "refs/heads/old", force: true });
await push({ ref: "refs/tags/made", remoteRef: "refs/tags/made" });
await push({ ref: "main", remoteRef: "refs/heads/gone", delete: true });
await push({ ref: "new", remoteRef: "refs/pull/1/head" });

console.log(JSON.stringify({ commits: await count("full"), depths, refused }));
