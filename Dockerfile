# One image holds every part; the command says which one runs:
# docker run shop web, docker run shop worker, docker run shop migrate …

FROM golang:1.26-trixie AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/shop ./cmd/shop && mkdir /out/data

FROM debian:trixie-slim
# The roots by which Stripe's certificate is checked.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/shop /usr/local/bin/shop
# Where the simulators keep their journals, when they run from this image.
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
WORKDIR /data
# SIGTERM, Docker's own default, lets requests and jobs under way finish.
ENTRYPOINT ["shop"]
CMD ["web"]
