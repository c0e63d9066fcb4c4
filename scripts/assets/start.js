/* global SwaggerUIBundle */

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#viewer",
  deepLinking: true,
  // Several hundred operations: open none, and let the reader search.
  docExpansion: "none",
  filter: true,
  // The viewer would otherwise ask a public validator about each document it shows.
  validatorUrl: null,
});
