/** The version of Gitea's API that this service implements; clients enable features by it. */
const API_VERSION = "1.25.0";

/** The version of Edgeforge, as in package.json; a test compares the two. */
export const EDGEFORGE_VERSION = "0.1.0";

/** The response of `GET /version`: a semantic version that Gitea clients can compare. */
export const SERVER_VERSION = `${API_VERSION}+edgeforge-${EDGEFORGE_VERSION}`;

/** The user agent of requests to other hosts. */
export const USER_AGENT = `Edgeforge/${EDGEFORGE_VERSION}`;
