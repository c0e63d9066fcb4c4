import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { getPath } from "hono/utils/url";

import { collapseSlashes } from "../../lib/request-path.ts";
import { receiveUpload, sendDownload, sendZip } from "./blobs.ts";
import type { ArtifactsEnv } from "./env.ts";
import {
  answerContainer,
  confirmContainer,
  createContainer,
  listContainers,
  receiveItem,
  sendItem,
} from "./pipeline.ts";
import { asBlobStore, asPipeline, asTwirp } from "./refusals.ts";
import { answerTwirp, SERVICE } from "./twirp.ts";

const PIPELINE = "/api/actions_pipeline/_apis/pipelines/workflows/:run/artifacts";

/** What jobs call to store and read artifacts, and addresses that need no credential. */
export const artifacts = new Hono<ArtifactsEnv>({
  router: new TrieRouter(),
  getPath: (request) => collapseSlashes(getPath(request)),
});

artifacts.put(`${SERVICE}/UploadArtifact`, asBlobStore(receiveUpload));
artifacts.get(`${SERVICE}/DownloadArtifact`, asBlobStore(sendDownload));
artifacts.post(`${SERVICE}/:method`, asTwirp(answerTwirp));
artifacts.get(
  "/api/v1/repos/:owner/:repo/actions/artifacts/:artifact/zip/raw",
  asPipeline(sendZip),
);

artifacts.get(PIPELINE, asPipeline(listContainers));
artifacts.post(PIPELINE, asPipeline(createContainer));
artifacts.patch(PIPELINE, asPipeline(confirmContainer));
artifacts.get(`${PIPELINE}/:artifact/download_url`, asPipeline(answerContainer));
artifacts.put(`${PIPELINE}/:artifact/upload`, asPipeline(receiveItem));
artifacts.get(`${PIPELINE}/:artifact/download/:file`, asPipeline(sendItem));
