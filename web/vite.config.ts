import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  plugins: [react()],
  build: { outDir: "../graphs/serving/page", emptyOutDir: true, assetsInlineLimit: 0, license: { fileName: "licenses.md" } },
});
