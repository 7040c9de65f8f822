import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  plugins: [react()],
  build: { outDir: "../interfaces/http/page", emptyOutDir: true, assetsInlineLimit: 0, license: { fileName: "licenses.md" } },
});
